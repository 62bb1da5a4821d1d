"""`python -m litotes`, as launchers of several processes start it."""

from litotes.cli import main

if __name__ == "__main__":
    main()
