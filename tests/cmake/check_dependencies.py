"""CMake finds libraries by CMAKE_PREFIX_PATH, also a Boost without static ones, and refuses old compilers."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip


def configure(build, *options):
    done = run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DWORKBOOK_GPU=OFF", *options)
    return done.returncode, done.stdout + done.stderr


def check_compiler(folder, name, version, accepted):
    """The output of CMake when it is told that the compiler is of this version."""
    options = ["-DCMAKE_CXX_COMPILER_FORCED=1", f"-DCMAKE_CXX_COMPILER_ID={name}",
               f"-DCMAKE_CXX_COMPILER_VERSION={version}"]
    _, output = configure(folder / f"{name} {version}", *options)
    sentence = f"{name} {version} is too old: g++ 12, clang 14 or newer is needed"
    verdict = "accepted" if accepted else "too old"
    expect(f"{name} {version} is {verdict}", (sentence in output) != accepted, output)


def make_prefix(prefix):
    """Makes a folder with a shared Boost and fmt's configuration; False where the system has none."""
    library = run("c++", "-print-file-name=libboost_context.so").stdout.strip()
    headers = pathlib.Path("/usr/include/boost")
    fmt = sorted(pathlib.Path("/usr/lib").glob("*/cmake/fmt"))
    if not pathlib.Path(library).is_absolute() or not headers.exists() or not fmt:
        return False
    (prefix / "lib/cmake").mkdir(parents=True)
    (prefix / "include").mkdir()
    (prefix / "include/boost").symlink_to(headers)
    (prefix / "lib/libboost_context.so").symlink_to(library)
    (prefix / "lib/cmake/fmt").mkdir()
    # A package that is only here: it sends CMake on to the system's.
    (prefix / "lib/cmake/fmt/fmt-config.cmake").write_text(f'include("{fmt[0]}/fmt-config.cmake")\n')
    return True


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary).resolve()
        check_compiler(folder, "GNU", "11.4", accepted=False)
        check_compiler(folder, "Clang", "13.0", accepted=False)
        check_compiler(folder, "GNU", "12.1", accepted=True)
        check_compiler(folder, "Clang", "14.0", accepted=True)

        prefix = folder / "a prefix"
        if not make_prefix(prefix):
            skip("this machine's Boost and fmt are not where Debian has them")
        build = folder / "build"
        status, output = configure(build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DBoost_NO_BOOST_CMAKE=ON",
                                   "-DBoost_NO_SYSTEM_PATHS=ON", f"-DBOOST_ROOT={prefix}")
        expect("it configures with libraries elsewhere", status == 0, output)
        cache = (build / "CMakeCache.txt").read_text()
        expect("fmt is that of CMAKE_PREFIX_PATH", f"fmt_DIR:PATH={prefix}/lib/cmake/fmt\n" in cache, cache)
        links = run("ninja", "-C", build, "-t", "commands", "workbook").stdout
        shared = f"{prefix}/lib/libboost_context.so"
        expect("a Boost with shared libraries alone is linked",
               shared in links.replace("\\ ", " ") and "libboost_context.a" not in links, links[-2000:])


main()
