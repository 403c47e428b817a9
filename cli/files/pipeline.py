"""Read, encode and write at the same time: each stage is a generator, which a thread runs a few items ahead of the next stage."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, TypeVar

from fst.errors import TextError
from fst.runtime.files.documents import Documents, Fault

AHEAD = 2  # maximum number of finished items that wait for the next stage; each has several megabytes
GRACE = 0.5  # seconds to wait for the thread to end; a thread that waits for input may never end

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """Yield the items of a generator, which a thread runs a few items in advance. An exception in the thread is raised here, after all
    items that precede it.

    To stop early, close this generator: the thread ends with its current item.
    """
    queue: Queue[tuple[Any, BaseException | None]] = Queue(AHEAD)
    is_over = Event()

    def make() -> None:
        end: BaseException = StopIteration()
        try:
            with closing(items):
                for item in items:
                    queue.put((item, None))
                    if is_over.is_set():
                        return
        except BaseException as error:  # the generator `ahead` raises the exception in the consumer's thread
            end = error
        queue.put((None, end))

    thread = Thread(target=make, daemon=True)
    thread.start()
    try:
        while True:
            item, end = queue.get()
            if isinstance(end, StopIteration):
                return
            if end is not None:
                raise end
            yield item
    finally:
        is_over.set()
        with suppress(Empty):  # empty the queue, so that a thread that waits for space in it continues
            while True:
                queue.get_nowait()
        thread.join(GRACE)


Work = Callable[[Documents, str], Result]


def mending(work: Callable[[Documents], Result]) -> Work[Result]:
    """The work on documents in which U+FFFD replaces malformed units, if `errors` is "replace"."""
    return lambda documents, errors: work(documents.mended() if errors == "replace" else documents)


class Policy:
    """The treatment of documents that are not valid text: raise an error, replace invalid bytes by U+FFFD, or skip the document.

    Args:
        errors: "strict", "replace" or "skip".

    Attributes:
        errors: the treatment.
        replaced, skipped: the number of documents that were repaired, or left out.
    """

    def __init__(self, errors: str) -> None:
        self.errors = errors
        self.replaced = self.skipped = 0

    @property
    def skips(self) -> bool:
        """Whether documents are skipped."""
        return self.errors == "skip"

    def results(
        self, documents: Generator[Documents, None, None], work: Work[Result], *, is_partial: bool = False
    ) -> Generator[Result, None, None]:
        """Yield the results of `work` while a thread reads the next documents. `work`: a function of documents and of `errors`, "strict" or
        "replace". It raises a TextError if a document is not text. `is_partial`: whether `work` may stop before the end of a text, so that
        it does not find all malformed bytes. If so, texts are checked first.
        """
        return ahead(self._results(ahead(documents), work, is_partial))

    def _results(
        self, documents: Generator[Documents, None, None], work: Work[Result], is_partial: bool
    ) -> Generator[Result, None, None]:
        with closing(documents):
            for some in documents:
                self._judge(some)
                yield self._result(some, work, is_partial)

    def _judge(self, documents: Documents) -> None:
        """Count the documents that the reader could not decode. Unless the policy is "skip", raise an error for the first such document."""
        for number, fault in documents.wrong:
            if not self.skips:
                raise _error(documents, number, fault)
        self.skipped += len(documents.wrong)
        self.replaced += documents.replaced

    def _result(self, documents: Documents, work: Work[Result], is_partial: bool) -> Result:
        wrong = documents.not_text() if is_partial or not documents.is_whole else {}
        if not wrong:
            try:
                return work(documents, "strict")
            except TextError as error:
                if not (wrong := documents.not_text()):
                    raise _placed(documents, error) from None
        if self.errors == "strict":
            row, fault = next(iter(wrong.items()))
            raise _error(documents, documents.numbers[row], fault)
        if self.errors == "replace":
            self.replaced += len(wrong)
            return work(documents, "replace")
        self.skipped += len(wrong)
        return work(documents.without(wrong), "strict")

    def notes(self) -> Iterator[str]:
        """Lines for the end of a command: the number of documents that were repaired or left out."""
        for count, what in ((self.replaced, "repaired with U+FFFD"), (self.skipped, "skipped")):
            if count:
                yield f"{count:,} document{'s' * (count != 1)} {what}"


def _placed(documents: Documents, error: TextError) -> TextError:
    """The error for a row; the message contains the place of the document, not the number of the row."""
    if error.row is None:
        return error
    reason = str(error).removeprefix(f"row {error.row}, ")
    return TextError(f"{documents.place(documents.numbers[error.row])}: {reason}")


def _error(documents: Documents, number: int, fault: Fault) -> TextError:
    return TextError(f"{documents.place(number)}: {fault.what}; {fault.remedy}")
