"""Two layers of experts along one axis of a 2-D mesh, two experts for each token, and the layers computed again in the
backward pass."""

import moe

RANKS = 4


def make(devices):
    return moe.make(devices, top=2, layers=2, experts=4, remat=True, data=2, expert=2)
