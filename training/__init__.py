"""How the project's own encoder is made: data, training, measurement and export.

``python -m training.NAME --help`` shows how a command is used, also where torch is not installed.
"""

import sys

from training import usage

usage.answer(sys.orig_argv)
