"""The command `carrylens`, which is `python -m carrylens`, as a process of its own."""

import os


def main() -> None:
    """Run the command line, NumPy's matrices on one thread: they are small, and threads that wait for them spin."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported, by this process and its workers
    os.environ["RUST_BACKTRACE"] = "0"  # without memory left, what safetensors would print of itself waits for ever
    from carrylens.cli import main as run

    run()


if __name__ == "__main__":
    main()
