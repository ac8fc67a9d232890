"""The cases of the report: the recorded lines with kaio's time, and the numbers that follow from them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

import measurements
import report
from measurements import KAIO, best_peer
from source import Line
from work import work_of

PROTOCOLS = {"burst": "repeated", "cold": "single", "": "sustained"}
# Types whose products the same units compute, at one peak.
UNITS = {"bf16": "16 bits", "f16": "16 bits", "e4m3": "8 bits", "e5m2": "8 bits", "i8": "8 bits", "f32": "f32", "tf32": "tf32",
         "f64": "f64"}


@dataclass(frozen=True)
class Case:
    benchmark: str
    type: str
    text: str  # shape and work
    protocol: str  # burst, cold; empty: one long run
    device: str
    driver: str  # empty: not recorded
    us: dict[str, float]
    measured: dict[str, str]  # date and commit, of each contestant
    operations: float | None = None
    moved: float | None = None  # bytes
    line: Line = field(default_factory=dict, repr=False, compare=False)

    @property
    def operation(self) -> str:
        return title_of(self.benchmark)

    @property
    def kaio(self) -> float:
        return self.us[KAIO]

    @property
    def units(self) -> str:
        if self.benchmark in ("qkv", "gate_up") and self.text.endswith(("i8", "fp8")):  # the hidden states have 8 bits too
            return "8 bits"
        return UNITS.get(self.type.split()[0], self.type.split()[0])

    @cached_property
    def peer(self) -> tuple[str, float] | None:
        return best_peer(self.us)

    @property
    def ratio(self) -> float | None:
        """The time of the fastest peer divided by kaio's."""
        return self.peer[1] / self.kaio if self.peer else None

    @property
    def tflops(self) -> float | None:
        return self.operations / self.kaio / 1e6 if self.operations else None

    @property
    def tbs(self) -> float | None:
        return self.moved / self.kaio / 1e6 if self.moved else None

    @property
    def intensity(self) -> float | None:
        return self.operations / self.moved if self.operations and self.moved else None


def title_of(benchmark: str) -> str:
    names = {"matmul_energy": "matmul, sustained"}
    return report.COMPARED.get(benchmark, (names.get(benchmark, benchmark),))[0]


def device_of(line: Line) -> tuple[str, str]:
    """(name, driver) of a recorded device: "NVIDIA H200, sm_90, 132 SMs, driver 13.0 (580.159.04)"."""
    text = line.get("device", "")
    driver = re.search(r"driver [\d.]+ \(([\d.]+)\)", text)
    return text.split(",")[0], driver[1] if driver else ""


def case_of(line: Line) -> Case:
    measured = line["measured"]
    if isinstance(measured, str):
        measured = dict.fromkeys(line["us"], measured)
    operations, moved = work_of(line)
    return Case(line["benchmark"], line["type"], report.case_of(line), line.get("protocol", ""), *device_of(line), line["us"],
                measured, operations, moved, line)


def cases_of(lines: list[Line]) -> list[Case]:
    """The cases that kaio has a time of, operations in the order of the page of results."""
    order = list(report.COMPARED)
    found = [case_of(line) for line in lines if isinstance(line.get("us"), dict) and KAIO in line["us"]]
    return sorted(found, key=lambda case: (order.index(case.benchmark) if case.benchmark in order else len(order), case.benchmark))


@dataclass(frozen=True)
class Ceiling:
    rate: float  # TB/s or TFLOP/s
    who: str
    case: str
    measured: str


@dataclass(frozen=True)
class Ceilings:
    """The fastest recorded rates of a device: what its memory and its units did, by any contestant."""
    copy: Ceiling | None
    traffic: Ceiling | None
    units: dict[str, Ceiling]

    def roof(self, case: Case) -> float | None:
        """The least microseconds of a case at the ceilings of copies and of its type."""
        peak = self.units.get(case.units)
        if case.moved is None or self.copy is None:
            return None
        return max(case.moved / self.copy.rate, case.operations / peak.rate if case.operations and peak else 0.0) / 1e6

    def is_memory_bound(self, case: Case) -> bool:
        peak = self.units.get(case.units)
        if case.moved is None:
            return False
        return not (case.intensity and peak and self.copy) or case.intensity < peak.rate / self.copy.rate


def ceilings_of(cases: list[Case], lines: list[Line], device: str) -> Ceilings:
    copies = [Ceiling(line["copy_gbs"] / 1e3, "copy", str(line.get("kernel", line.get("call"))),
                      str(measurements.newest(line["measured"]))) for line in lines if "copy_gbs" in line and device_of(line)[0] == device]
    traffic: list[Ceiling] = []
    units: dict[str, Ceiling] = {}
    for case in cases:
        if case.device != device:
            continue
        name = f"{case.operation} {case.type}, {case.text}, {PROTOCOLS.get(case.protocol, case.protocol)}"
        if "copy" in case.us and case.moved:
            copies.append(Ceiling(case.moved / case.us["copy"] / 1e6, "copy", name, case.measured["copy"]))
        if case.tbs and case.moved and case.moved >= 1 << 28:  # no cache holds a large part of 256 MiB
            traffic.append(Ceiling(case.tbs, KAIO, name, case.measured[KAIO]))
        if case.operations and "tflops" in case.line:
            contestant, us = min(case.us.items(), key=lambda one: one[1])
            rate = Ceiling(case.operations / us / 1e6, contestant, name, case.measured[contestant])
            units[case.units] = max(units.get(case.units, rate), rate, key=lambda ceiling: ceiling.rate)

    def fastest(found: list[Ceiling]) -> Ceiling | None:
        return max(found, key=lambda ceiling: ceiling.rate, default=None)
    return Ceilings(fastest(copies), fastest(traffic), units)
