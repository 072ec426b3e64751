"""A monitor of training runs that says nothing."""


class Quiet:
    """Watches nothing, and may stop a run at a step."""

    def __init__(self, stop_at: int = -1) -> None:
        self.stop_at, self.n_asked, self.lines = stop_at, 0, list[dict[str, object]]()

    def note(self, _step: int, _n_steps: int, line: dict[str, object], /) -> None:
        self.lines.append(line)

    def stop_wanted(self) -> bool:
        self.n_asked += 1
        return self.n_asked == self.stop_at
