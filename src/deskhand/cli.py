"""The old name of the command line (``python -m deskhand.cli``), for one release; it is ``python -m deskhand``."""

from deskhand.commands.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
