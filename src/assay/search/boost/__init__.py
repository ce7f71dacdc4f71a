"""What does a query ask for, and which candidates does that boost?"""

from assay.search.boost.apply import EVERYTHING, Boosted, Reordered, apply_boosts, keys_of
from assay.search.boost.detect import Detected, check_intent, detect, intent_names
from assay.search.boost.lexicon import Lexicon, default_lexicon, load_lexicon

__all__ = [
    "EVERYTHING",
    "Boosted",
    "Detected",
    "Lexicon",
    "Reordered",
    "apply_boosts",
    "check_intent",
    "default_lexicon",
    "detect",
    "intent_names",
    "keys_of",
    "load_lexicon",
]
