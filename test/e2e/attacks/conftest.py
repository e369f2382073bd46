"""The harness of the folder above, and the parts of the attacks, can be imported by these tests."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
