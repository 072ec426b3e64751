"""Elements: the one way in which data become part of a page's markup, and the policy that a page carries.

Takes  names of elements, attributes and text; scripts and styles of our own.
Gives  markup in which every attribute and every text is escaped; a Content-Security-Policy.
Never  takes a text for markup: only what `element` made is put in as it is.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256

from markupsafe import Markup

ALWAYS = ("default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'")


def element(tag: str, *inside: str, apart: str = "", **attributes: object) -> Markup:
    """One element with what is inside of it, `apart` by some text; an underscore in an attribute's name is a hyphen.

    >>> print(element("text", "a < b", class_='x" onload="y', text_anchor="end"))
    <text class="x&#34; onload=&#34;y" text-anchor="end">a &lt; b</text>
    """
    names = [name.rstrip("_").replace("_", "-") for name in attributes]
    said = Markup("").join(
        Markup(' {}="{}"').format(name, value) for name, value in zip(names, attributes.values(), strict=True)
    )
    if not inside:
        return Markup("<{}{}/>").format(tag, said)
    return Markup("<{}{}>{}</{}>").format(tag, said, concatenated(inside, apart), tag)


def concatenated(parts: Iterable[str], apart: str = "\n") -> Markup:
    """Elements one after another; text among them is escaped."""
    return Markup("{}").format(apart).join(parts)


def page_policy(scripts: Sequence[str], styles: Sequence[str], more: Sequence[str] = ()) -> str:
    """What a page may do: run these scripts and take these styles, known by their hashes, and no more."""
    script = " ".join(map(_hash, scripts)) or "'none'"
    style = " ".join(map(_hash, styles)) or "'none'"
    return "; ".join([*ALWAYS, f"script-src {script}", f"style-src-elem {style}", f"style-src {style}", *more])


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
