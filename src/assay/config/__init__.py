"""How is assay set up here: which settings, from which source, read how strictly?"""

from assay.config.configuration import Configuration, configure
from assay.config.resolve import unknown_variables
from assay.config.settings import SETTINGS, Setting

__all__ = ["SETTINGS", "Configuration", "Setting", "configure", "unknown_variables"]
