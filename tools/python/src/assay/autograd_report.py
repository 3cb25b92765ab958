"""The result of judging a forward and its backward together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from assay.reports import CONFORMANT, FAILURES, Report


class Part(Enum):
    """A part of an autograd function that may be wrong."""

    FORWARD = "forward"
    SAVED = "saved"
    BACKWARD = "backward"
    SAVED_OR_BACKWARD = "saved_or_backward"  # nothing shows which of the two


@dataclass(frozen=True)
class AutogradCause:
    """A part that is wrong, and the tensors that show it."""

    part: Part
    tensors: tuple[str, ...]
    verdict: str
    evidence: str


def _fails(report: Report | None) -> bool:
    return report is not None and report.verdict in FAILURES


def failing_tensors(report: Report) -> tuple[str, ...]:
    """The tensors with findings, or with an error above the tolerance."""
    found = [finding.tensor for finding in report.findings if finding.tensor and finding.rule not in ("note", "control")]
    found += [name for name, worst in report.worst.items() if not worst <= 1]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class AutogradReport:
    """The verdicts on the parts of one autograd function, for one case. A part without a report was not judged."""

    function: str
    command: str  # the replay line of the gradient
    forward: Report | None  # the output
    saved: Report | None  # the results that the forward saved for the backward, such as softmax statistics
    backward: Report | None  # the gradients, compared with the exact gradients at the saved values
    end_to_end: Report | None  # the gradients, compared with the exact gradients of the exact forward
    unequal: tuple[str, ...] = ()  # saved copies of inputs whose bits differ from the inputs
    copied: tuple[str, ...] = ()  # saved values that are the output itself, bit by bit

    @property
    def reports(self) -> dict[str, Report]:
        """The reports by part, in the order of the computation."""
        parts = {"forward": self.forward, "saved": self.saved, "backward": self.backward, "end_to_end": self.end_to_end}
        return {part: report for part, report in parts.items() if report is not None}

    @property
    def causes(self) -> list[AutogradCause]:
        """The parts that are wrong, in the order of the computation."""
        found = []
        if self.forward is not None and _fails(self.forward):
            found.append(_cause(Part.FORWARD, self.forward))
        found += self._saved_causes()
        if self.backward is not None and _fails(self.backward):
            found.append(_cause(Part.BACKWARD, self.backward))
        if not found and self.end_to_end is not None and _fails(self.end_to_end):
            part = Part.SAVED_OR_BACKWARD if self.backward is None else Part.SAVED
            found.append(_cause(part, self.end_to_end))
        return found

    def _saved_causes(self) -> list[AutogradCause]:
        found = []
        if self.unequal:
            evidence = f"the saved {', '.join(self.unequal)} differ in bits from the inputs"
            found.append(AutogradCause(Part.SAVED, self.unequal, "nonconformant_structural", evidence))
        if self.saved is None or not _fails(self.saved):
            return found
        own = failing_tensors(self.saved)
        if self.copied and _fails(self.forward):  # a wrong output that is also saved is a fault of the forward
            own = tuple(name for name in own if name not in self.copied)
            if not own:
                return found
        return [*found, AutogradCause(Part.SAVED, own, self.saved.verdict, self.saved.evidence)]

    @property
    def wrong(self) -> tuple[str, ...]:
        """The names of the wrong parts: "forward", "saved", "backward", "saved_or_backward"."""
        return tuple(dict.fromkeys(cause.part.value for cause in self.causes))

    @property
    def conforms(self) -> bool:
        """True if nothing is wrong, and every verdict is conclusive. A function that does not support the case conforms, too."""
        return not self.causes and all(report.verdict in CONFORMANT for report in self.reports.values())

    @property
    def not_conclusive(self) -> tuple[str, ...]:
        """The names of the parts whose verdict is not conclusive."""
        return tuple(part for part, report in self.reports.items() if report.verdict not in CONFORMANT | FAILURES)

    def sentence(self) -> str:
        """One sentence: which part is wrong."""
        if causes := self.causes:
            return f"{self.function}: " + "; ".join(_SENTENCES[cause.part].format(_listed(cause.tensors)) for cause in causes) + self._rest()
        if self.forward is not None and self.forward.verdict == "not_applicable":
            return f"{self.function}: not applicable: {self.forward.evidence}"
        if self.not_conclusive:
            return f"{self.function}: not conclusive: {', '.join(self.not_conclusive)}"
        judged = "forward, saved values and backward" if self.backward is not None and self.saved is not None else "forward and backward"
        return f"{self.function}: {judged} conform"

    def _rest(self) -> str:
        """The end of the sentence: a part that is right although another part is wrong."""
        if "backward" in self.wrong or self.backward is None or self.backward.verdict not in CONFORMANT:
            return ""
        return "; the backward is right at the saved values"

    def summary(self) -> str:
        """The sentence; for each part its verdict with the largest error as a fraction of the tolerance; and how to repeat the case."""
        lines = [self.sentence()]
        for part, report in self.reports.items():
            worst = ", ".join(f"{name} {ratio:.3g}" for name, ratio in report.worst.items())
            lines.append(f"  {_TITLES[part]}: {report.verdict}" + (f"; worst error/tau: {worst}" if worst else ""))
        lines += [f"  {cause.part.value}: {cause.evidence}" for cause in self.causes]
        if not self.conforms:
            lines.append(f"  repeat: assay.judge_autograd(FUNCTION, {self.command!r})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """The result as values that JSON can contain."""
        return {
            "function": self.function,
            "command": self.command,
            "conforms": self.conforms,
            "wrong": list(self.wrong),
            "sentence": self.sentence(),
            "causes": [
                {"part": cause.part.value, "tensors": list(cause.tensors), "verdict": cause.verdict, "evidence": cause.evidence}
                for cause in self.causes
            ],
            "parts": {part: _members(report) for part, report in self.reports.items()},
        }


def _cause(part: Part, report: Report) -> AutogradCause:
    return AutogradCause(part, failing_tensors(report), report.verdict, report.evidence)


def _listed(tensors: tuple[str, ...]) -> str:
    return f" ({', '.join(tensors)})" if tensors else ""


def _members(report: Report) -> Mapping[str, Any]:
    return {"operator": report.operator, "verdict": report.verdict, "decided_by": report.decided_by, "evidence": report.evidence,
            "worst": dict(report.worst)}


_SENTENCES = {
    Part.FORWARD: "the forward is wrong{}",
    Part.SAVED: "the values that the forward saved are wrong{}",
    Part.BACKWARD: "the backward is wrong{}",
    Part.SAVED_OR_BACKWARD: "the backward or the values that the forward saved are wrong{}",
}
_TITLES = {
    "forward": "forward",
    "saved": "saved values",
    "backward": "backward at the saved values",
    "end_to_end": "backward at the true values",
}
