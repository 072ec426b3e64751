"""`python -m carrylens` is the command `carrylens`."""

from carrylens.cli import main

if __name__ == "__main__":
    main()
