"""``python -m deskhand``: the command line, as the executable ``deskhand``."""

from deskhand.commands.cli import main

if __name__ == "__main__":
    main()
