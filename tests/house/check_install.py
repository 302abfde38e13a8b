"""A program built from the installed tree alone, by pkg-config, with the shared and the static library.

    check_install.py BUILD WORK
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAM = r"""
#include <stdio.h>
#include <3pt/3pt.h>
int main(void) {
  tpt_config *config;
  tpt_model *model;
  tpt_decoder *decoder;
  int32_t token = 7;
  tpt_status s = tpt_config_create(&config);
  if (!s) s = tpt_config_set(config, "model.vocab_size", "50");
  if (!s) s = tpt_config_set(config, "model.n_layers", "1");
  if (!s) s = tpt_model_create(NULL, config, 1, &model);
  if (!s) s = tpt_decoder_create(model, 0, &decoder);
  if (!s) s = tpt_decoder_feed(decoder, &token, 1, NULL);
  if (!s) s = tpt_decoder_sample(decoder, &token);
  if (s) return fprintf(stderr, "%s\n", tpt_error_message()), 1;
  printf("%s %s %d\n", tpt_version(), tpt_build_info(), (int)token);
  tpt_config_destroy(config), tpt_model_destroy(model), tpt_decoder_destroy(decoder);
  return 0;
}
"""


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def main():
    build, work = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", work / "root"])
    pc = next((work / "root").rglob("3pt.pc"), None) or sys.exit("no 3pt.pc was installed")
    libdir = pc.parent.parent
    env = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent))
    for name in ("lib3pt.so", "lib3pt.so.1", "lib3pt.a"):
        if not (libdir / name).exists():
            sys.exit(f"{name} was not installed")
    (work / "host.c").write_text(PROGRAM)
    for extra, static in (([], []), (["-static"], ["--static"])):
        flags = run(["pkg-config", "--cflags", "--libs", *static, "3pt"], env=env).split()
        run(["cc", "-o", work / "host", work / "host.c", *extra, *flags])
        print(run([work / "host"], env=dict(os.environ, LD_LIBRARY_PATH=str(libdir))))
    if run(["pkg-config", "--modversion", "3pt"], env=env) != "1.0.0":
        sys.exit("3pt.pc gives another version")


if __name__ == "__main__":
    main()
