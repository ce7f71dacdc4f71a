"""What can go wrong with a model, apart from what any file can suffer?"""

from assay.errors import AssayError, MissingFileError, UsageError


class UnknownModelError(UsageError):
    """A name that is neither a model we know nor a folder."""

    code = "unknown_model"


class MissingModelError(MissingFileError):
    """A model that we know was not pulled yet."""

    code = "model_missing"


class CorruptModelError(AssayError):
    """A model's file is not what its card promises."""

    code = "model_corrupt"
    http_status = 503


class PullError(AssayError):
    """A model could not be fetched."""

    code = "pull_failed"
    http_status = 502


class CacheUnavailableError(AssayError):
    """The file that keeps vectors cannot be written or read now: disk full, read-only, locked."""

    code = "vector_cache_unavailable"
    http_status = 507


class CorruptCacheError(AssayError):
    """The file that keeps vectors is damaged, or is none."""

    code = "vector_cache_corrupt"
    http_status = 503
