"""What is said where a model needs a GPU and there is none?"""

from assay.errors import AssayError


class GpuNotAvailableError(AssayError):
    """A model that requires a GPU was asked for on a machine without one."""

    code = "gpu_unavailable"
    http_status = 503
