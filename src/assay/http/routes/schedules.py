"""Which evaluations does the clock start?"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse

from assay.app import testsets, timetable
from assay.app.evaluation_request import EvaluationRequest, request_fields
from assay.app.schedule import ScheduleEntry
from assay.app.timetable import Timetable
from assay.http.edge.auth import Caller
from assay.http.job_answers import check_evaluation
from assay.http.routing import Evaluator, Reader, ServiceOf, answers, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id
from assay.http.wire.evaluate import EvaluationOptions, ScheduleBody, request_options
from assay.model.codec import encode

router = new_router("schedules", prefix="/v1")

Options = Annotated[EvaluationOptions, Query()]


@router.get("/schedules", responses={**answers(Timetable), **refusals()})
async def list_schedules(service: ServiceOf, caller: Reader) -> JSONResponse:
    """What the clock starts: entries of the settings (``fixed``), and of people (``own``)."""
    del caller
    return JSONResponse(encode(await service.work(service.workspace.schedules)))


@router.post(
    "/schedules", status_code=201, responses={**answers(ScheduleEntry, 201), **refusals(404)}
)
async def schedule(
    body: ScheduleBody, parameters: Options, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Have the clock start an evaluation; the parameters are those of ``POST /v1/evaluate``."""
    wanted = await _wanted(service, body, parameters)
    return JSONResponse(encode(await put_schedule(service, caller, body.when, wanted)), 201)


@router.put("/schedules/{entry_id}", responses={**answers(ScheduleEntry), **refusals(404)})
async def change_schedule(
    entry_id: Id, body: ScheduleBody, parameters: Options, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Change a scheduled evaluation; what is left out is as usual, not as before."""
    wanted = await _wanted(service, body, parameters)
    entry = await put_schedule(service, caller, body.when, wanted, entry_id=entry_id)
    return JSONResponse(encode(entry))


@router.delete("/schedules/{entry_id}", responses={**answers(ScheduleEntry), **refusals(404)})
async def unschedule(entry_id: Id, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Remove a scheduled evaluation; its runs stay."""
    return JSONResponse(encode(await take_schedule(service, caller, entry_id)))


async def put_schedule(
    service: Service, caller: Caller, when: str, wanted: EvaluationRequest, *, entry_id: str = ""
) -> ScheduleEntry:
    """Make an entry, or change the one that is named; the log says who did."""
    await check_evaluation(service, wanted)
    entry = await service.work(
        lambda: timetable.schedule(
            service.workspace, when, wanted, owner=caller.name, entry_id=entry_id
        )
    )
    service.log.info("scheduled", entry=entry.entry_id, when=entry.when, by=caller.name)
    return entry


async def take_schedule(service: Service, caller: Caller, entry_id: str) -> ScheduleEntry:
    """Remove an entry; the log says who did."""
    entry = await service.work(lambda: service.workspace.unschedule(entry_id))
    service.log.info("unscheduled", entry=entry_id, by=caller.name)
    return entry


async def _wanted(
    service: Service, body: ScheduleBody, parameters: EvaluationOptions
) -> EvaluationRequest:
    """The evaluation that a body and the parameters ask for."""
    return await service.work(
        lambda: EvaluationRequest(
            test_set=testsets.load(service.workspace.layout, body.test_set, lenient=True),
            test_sets=(body.test_set,),
            options=parameters.changes(),
            **request_fields(request_options(parameters)),
        )
    )
