"""Judges a Python function as an implementation of an operator. How to use it: docs/kernel_python.md of the project."""

from assay.autograd import AutogradFunction, judge_autograd
from assay.autograd_report import AutogradCause, AutogradReport
from assay.cases import Case, CaseFileError, Expected, read_cases, write_cases, write_outputs
from assay.implementation import Implementation, Rejected, Unsupported, implementation
from assay.judging import NotApplicable, Plan, assert_conforms, command_of, export_lines, export_plan, judge
from assay.packs import PackCase, PackError, read_pack
from assay.parts import Part
from assay.program import AssayError, find_program
from assay.report_files import ReportError
from assay.reports import Cause, Finding, Report, Reports, read_reports
from assay.serving import serve
from assay.stages import Deviation, first_deviation, stages
from assay.sweeping import gate, sweep
from assay.variants import Variant, variant

__all__ = [
    "AssayError",
    "AutogradCause",
    "AutogradFunction",
    "AutogradReport",
    "Case",
    "CaseFileError",
    "Cause",
    "Deviation",
    "Expected",
    "Finding",
    "Implementation",
    "NotApplicable",
    "PackCase",
    "PackError",
    "Part",
    "Plan",
    "Rejected",
    "Report",
    "ReportError",
    "Reports",
    "Unsupported",
    "Variant",
    "assert_conforms",
    "command_of",
    "export_lines",
    "export_plan",
    "find_program",
    "first_deviation",
    "gate",
    "implementation",
    "judge",
    "judge_autograd",
    "read_cases",
    "read_pack",
    "read_reports",
    "serve",
    "stages",
    "sweep",
    "variant",
    "write_cases",
    "write_outputs",
]
