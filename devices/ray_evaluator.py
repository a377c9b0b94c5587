"""The evaluator on a Ray cluster: supervisor actors pinned to device nodes do what ``devices.evaluator`` does in one process.

An actor holds one unit of the custom resource of its device kind (``dls_cuda``, ``dls_vnni``), which is the lock on that device. Actors
restart for ever but their tasks are never retried by Ray: the driver counts tries, so that a candidate that kills workers is given up as
a crash. Tasks are idempotent, since builds are content-addressed and runs leave nothing behind. Ray's own advice and traps:
docs/cluster.md."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from devices.evaluation import Candidate, Evaluation, Problem
from devices.evaluator import Oracle, candidate_device, evaluate, prepare, source_device
from devices.status import Status
from synth.errors import UsageError

MAX_TRIES = 2
START_TIMEOUT = 60.0


def resource_name(dialect: str) -> str:
    """The custom resource that nodes offering this dialect's device announce."""
    return f"dls_{'vnni' if dialect == 'c' else dialect}"


class DeviceWorker:
    """The actor. It supervises subprocesses and never loads candidate code."""

    def prepare(self, problem: Problem) -> Oracle:
        return prepare(problem, source_device(problem))

    def evaluate(self, oracle: Oracle, candidate: Candidate, problem: Problem) -> Evaluation:
        return evaluate(oracle, candidate, candidate_device(problem, candidate.program), problem.timeout)


def connect(address: str, dialects: Sequence[str]) -> None:
    """Joins a cluster, or starts one on this machine for ``local``, which offers one device of each dialect and listens on loopback only.

    Raises UsageError when the cluster cannot be reached or lacks a resource.
    """
    import ray

    if not ray.is_initialized():
        try:
            if address == "local":
                os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
                resources = {resource_name(d): float(max(1, (os.cpu_count() or 1) // 2)) for d in dialects}
                ray.init(
                    address="local",
                    include_dashboard=False,
                    resources=resources,
                    _node_ip_address="127.0.0.1",
                    logging_level=logging.ERROR,
                    log_to_driver=False,
                )
            else:
                ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise UsageError(f"--ray {address}: {error}", hint="start a cluster (docs/cluster.md), or use --ray local") from error
    offered = ray.cluster_resources()
    for dialect in dialects:
        if offered.get(resource_name(dialect), 0) < 1:
            raise UsageError(
                f"no node of the Ray cluster offers {resource_name(dialect)}",
                hint=f"start a node with --resources '{{\"{resource_name(dialect)}\": 1}}'",
            )


@dataclass(slots=True)
class RayEvaluator:
    """One actor for the source's device, one per unit of the target's resource. Call ``connect`` first, ``close`` at the end."""

    problem: Problem
    target_dialect: str
    _actors: list[Any] = field(default_factory=list)
    _oracle: Oracle | None = None
    _oracle_ref: Any = None

    @property
    def parallelism(self) -> int:
        import ray

        return max(1, int(ray.cluster_resources().get(resource_name(self.target_dialect), 1)))

    def oracle(self) -> Oracle:
        """What the source did, on a node of its kind; kept in the object store for the workers."""
        import ray

        if self._oracle is None:
            actor = _start(self.problem.source.dialect)
            try:
                self._oracle = ray.get(actor.prepare.remote(self.problem))
            except ray.exceptions.RayError as error:
                self._oracle = Oracle(Status.CRASH, reason=f"the worker that ran the source died: {type(error).__name__}")
            finally:
                ray.kill(actor)
            self._oracle_ref = ray.put(self._oracle)
        return self._oracle

    def evaluate(self, candidates: Sequence[Candidate]) -> tuple[Evaluation, ...]:
        """One evaluation per candidate, in order; a candidate whose worker dies ``MAX_TRIES`` times is a crash."""
        import ray

        self.oracle()
        while len(self._actors) < min(self.parallelism, len(candidates)):
            self._actors.append(_start(self.target_dialect))
        results: dict[str, Evaluation] = {}
        tries = dict.fromkeys((c.key for c in candidates), 0)
        waiting = list(candidates)
        busy: dict[Any, tuple[Candidate, Any, float]] = {}
        idle = list(self._actors)
        while waiting or busy:
            while waiting and idle:
                candidate, actor = waiting.pop(0), idle.pop(0)
                tries[candidate.key] += 1
                busy[actor.evaluate.remote(self._oracle_ref, candidate, self.problem)] = (candidate, actor, time.monotonic())
            done, _ = ray.wait(list(busy), num_returns=1)
            candidate, actor, started = busy.pop(done[0])
            idle.append(actor)
            try:
                results[candidate.key] = ray.get(done[0])
            except ray.exceptions.RayError as error:
                if tries[candidate.key] < MAX_TRIES:
                    waiting.append(candidate)
                else:
                    reason = f"its worker died {MAX_TRIES} times: {type(error).__name__}"
                    results[candidate.key] = Evaluation(candidate.key, Status.CRASH, reason, wall_seconds=time.monotonic() - started)
        return tuple(results[c.key] for c in candidates)

    def close(self) -> None:
        """Stops the actors; leaves the cluster as it is."""
        import ray

        for actor in self._actors:
            ray.kill(actor)
        self._actors.clear()


def _start(dialect: str) -> Any:
    import ray

    options = {"max_restarts": -1, "max_task_retries": 0, "num_cpus": 0, "resources": {resource_name(dialect): 1}}
    return ray.remote(DeviceWorker).options(**options).remote()
