"""Writes a whole file so that nothing is lost, as kaio's own programs do (src/host/write_file.hpp)."""

import os
import pathlib
import tempfile


def replace_file(path, text):
    """The old file stays until the new content is complete. Follows a link, and keeps the file's rights."""
    file = pathlib.Path(path).resolve()
    if file.exists() and not file.is_file():  # a device or a pipe
        file.write_text(text, encoding="utf-8")
        return
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=".kaio-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as new:
            new.write(text)
            new.flush()
            os.fsync(new.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, file.stat().st_mode & 0o777 if file.exists() else 0o666 & ~mask)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise
