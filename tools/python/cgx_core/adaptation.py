"""Decides when to measure, and when to change codecs by the measurements, as `cgx-run --adapt` does."""

import dataclasses

from cgx_core.choices import check_choice

# The solvers of cgx-plan.
_SOLVERS = ("uniform", "linear", "kmeans", "bayes", "accordion", "lgreco", "lgreco+accordion", "exact")

@dataclasses.dataclass(frozen=True)
class Adaptation:
    """A plan from step `warmup` on and a new one every `every` steps, made of the `profile_steps` before."""
    solver: str
    warmup: int = 200
    every: int = 1000
    profile_steps: int = 10

    def __post_init__(self):
        check_choice("the solver of adapt", self.solver, _SOLVERS, " (or a cgx Adaptation with one of them)")
        for name in ("warmup", "every", "profile_steps"):
            if int(getattr(self, name)) < 1:
                raise ValueError(f"expected {name} of 1 or more, got {getattr(self, name)}")

    def changes_before(self, step):
        """Returns true if a new plan is made before this step."""
        return step >= self.warmup and (step - self.warmup) % self.every == 0

    def measures(self, step):
        """Returns true if this step is measured."""
        next_change = self.warmup if step < self.warmup else \
            self.warmup + ((step - self.warmup) // self.every + 1) * self.every
        return next_change - step <= min(self.profile_steps, self.every)


class Adapter:
    """An object that measures a program and changes its codecs in time. The program has `begin_profile()` and
    `adapt(solver)`, which it calls between steps."""

    def __init__(self, adaptation):
        self._adaptation = adaptation
        self.is_measuring = False

    def before(self, step, program):
        """Returns the new plan where there is one."""
        plan = None
        if self.is_measuring and self._adaptation.changes_before(step):
            plan, self.is_measuring = program.adapt(self._adaptation.solver), False
        if not self.is_measuring and self._adaptation.measures(step):
            program.begin_profile()
            self.is_measuring = True
        return plan


def adaptation_of(adapt):
    """Returns an Adaptation from what users pass: one, the name of a solver, or None."""
    return adapt if adapt is None or isinstance(adapt, Adaptation) else Adaptation(adapt)
