"""Executors for `assay.sweep(..., executor=...)`, for engines that do not provide one."""

from __future__ import annotations

from typing import Any


class RayExecutor:
    """Runs calls as tasks of Ray, to which this process is connected (`ray.init`). If the worker of a task is lost, the
    task runs again, at most `max_retries` times."""

    def __init__(self, max_retries: int = 3) -> None:
        self._max_retries = max_retries

    def submit(self, function: Any, /, *arguments: Any) -> RayFuture:
        import ray

        task = ray.remote(max_retries=self._max_retries)(_call)
        return RayFuture(task.remote(function, *arguments))


def _call(function: Any, *arguments: Any) -> Any:
    return function(*arguments)


class RayFuture:
    """The result of a task of Ray."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference

    def result(self) -> Any:
        import ray

        return ray.get(self._reference)

    def cancel(self) -> None:
        import ray

        ray.cancel(self._reference)
