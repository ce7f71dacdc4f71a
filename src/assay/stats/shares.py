"""Between which two values does a true share lie, when so many of n were counted?

Wilson's score interval (Wilson 1927): with z = Φ⁻¹((1 + level)/2) and the share p of n,

    (p + z²/2n ± z √(p (1 - p)/n + z²/4n²)) / (1 + z²/n)

It has a width also where all or none were counted, and never leaves [0, 1].
"""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(share: float, n: float, level: float) -> tuple[float, float]:
    """The ends of the interval; ``n`` may be the number of things that others are worth."""
    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    spread = z * math.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    middle, scale = share + z * z / (2.0 * n), 1.0 + z * z / n
    low, high = max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)
    return min(low, share), max(high, share)
