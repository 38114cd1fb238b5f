"""Checks that saved codec state belongs to this model or step."""


def check_fits(expected, given, whose):
    """Raises ValueError that names every tensor that differs, if a state is not the expected one.

    Args:
      expected, given: {name: bytes}.
      whose: begins the message: "rank 0".
    """
    differing = [f"{name}: expected {size} bytes, got {given[name]}" if name in given else
                 f"{name}: expected {size} bytes, which the state does not have"
                 for name, size in sorted(expected.items()) if given.get(name) != size]
    differing += [f"{name}: {size} bytes of the state, which are not expected" for name, size in sorted(given.items())
                  if name not in expected]
    if differing:
        raise ValueError(f"{whose}: expected what codecs of this model remember, got the state of another model, of other options or of "
                         f"another rank; {len(differing)} {'tensor differs' if len(differing) == 1 else 'tensors differ'}:\n  " +
                         "\n  ".join(differing))
