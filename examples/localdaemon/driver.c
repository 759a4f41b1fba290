#include "examples/localdaemon/driver.h"

#include "examples/localdaemon/provider.h"

/* A promise as the value of a cell is waited for. Output is written out before the cell's end is told. An error that
 * nobody catches, from a timer, say, is shown and ends nothing. The driver's own frames are left out of a stack. */
static const char javascript[] =
    "(() => {\n"
    "const fs = require('fs'), vm = require('vm'), util = require('util');\n"
    "const stream = Number(process.argv[1]);\n"
    "process.argv.length = 1;\n"
    "const read = (size) => {\n"
    "  const bytes = Buffer.alloc(size);\n"
    "  for (let at = 0; at < size;) {\n"
    "    const got = fs.readSync(stream, bytes, at, size - at, null);\n"
    "    if (got === 0) process.exit(0);\n"
    "    at += got;\n"
    "  }\n"
    "  return bytes;\n"
    "};\n"
    "const ours = /\\n    at (?:Script\\.runInThisContext|new Script) \\(node:vm/;\n"
    "const show = (error) => process.stderr.write(\n"
    "  (error instanceof Error && error.stack ? String(error.stack).split(ours)[0] : 'Uncaught ' + "
    "util.inspect(error))\n"
    "  + '\\n');\n"
    "const flush = (to) => new Promise((done) => to.write('', done));\n"
    "process.on('uncaughtException', show);\n"
    "const run = async (code, filename) => {\n"
    "  let value = vm.runInThisContext(code, { filename });\n"
    "  if (util.types.isPromise(value)) value = await value;\n"
    "  if (value !== undefined) process.stdout.write(util.inspect(value) + '\\n');\n"
    "};\n"
    "(async () => {\n"
    "  fs.writeSync(stream, 'r');\n"
    "  for (let cell = 1; ; cell++) {\n"
    "    const code = read(read(4).readUInt32BE(0)).toString();\n"
    "    let raised = '0';\n"
    "    try { await run(code, 'cell-' + cell); } catch (error) { raised = '1'; show(error); }\n"
    "    await flush(process.stdout);\n"
    "    await flush(process.stderr);\n"
    "    fs.writeSync(stream, raised);\n"
    "  }\n"
    "})();\n"
    "})();\n";

static const char python[] =
    "def _serve():\n"
    "    import ast, builtins, linecache, os, sys, traceback, types\n"
    "    stream = int(sys.argv[1])\n"
    "    sys.argv[:] = ['']\n"
    "    os.set_inheritable(stream, False)\n"
    "    main = types.ModuleType('__main__')\n"
    "    main.__builtins__ = builtins\n"
    "    sys.modules['__main__'] = main\n"
    "    def read(size):\n"
    "        data = b''\n"
    "        while len(data) < size:\n"
    "            got = os.read(stream, size - len(data))\n"
    "            if not got:\n"
    "                os._exit(0)\n"
    "            data += got\n"
    "        return data\n"
    "    def run(code, name):\n"
    "        linecache.cache[name] = (len(code), None, code.splitlines(True), name)\n"
    "        tree = ast.parse(code, name)\n"
    "        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None\n"
    "        exec(compile(tree, name, 'exec'), main.__dict__)\n"
    "        if last is not None:\n"
    "            exec(compile(ast.Interactive([last]), name, 'single'), main.__dict__)\n"
    "    os.write(stream, b'r')\n"
    "    cell = 0\n"
    "    while True:\n"
    "        cell += 1\n"
    "        code = read(int.from_bytes(read(4), 'big')).decode()\n"
    "        raised = b'0'\n"
    "        try:\n"
    "            run(code, f'cell-{cell}')\n"
    "        except SystemExit:\n"
    "            raise\n"
    "        except BaseException as error:\n"
    "            raised = b'1'\n"
    "            inner = error.__traceback__.tb_next.tb_next\n"
    "            traceback.print_exception(type(error), error, None if isinstance(error, SyntaxError) else inner)\n"
    "        sys.stdout.flush()\n"
    "        sys.stderr.flush()\n"
    "        os.write(stream, raised)\n"
    "_serve()\n";

static const struct {
    const char *word;
    const char *option;
    const char *text;
} drivers[LD_LANGUAGES] = {[LD_JAVASCRIPT] = {"javascript", "-e", javascript}, [LD_PYTHON] = {"python", "-c", python}};

const char *ld_language_word(ld_language language) {
    return drivers[language].word;
}

bool ld_language_served(const ld_sandbox *sandbox, ld_language language) {
    return sandbox->provider->keeps_processes && (ld_sandbox_in_force(sandbox) & LD_GUARD_USER) != 0 &&
           ld_driver_program(sandbox, language)[0] != '\0';
}

ld_language ld_language_find(const ld_sandbox *sandbox, cs_view word) {
    for (int i = 0; i < LD_LANGUAGES; i++)
        if (cs_view_is(word, drivers[i].word) && ld_language_served(sandbox, (ld_language)i)) return (ld_language)i;
    return LD_NO_LANGUAGE;
}

const char *ld_driver_program(const ld_sandbox *sandbox, ld_language language) {
    return language == LD_PYTHON ? sandbox->python : sandbox->node;
}

const char *ld_driver_option(ld_language language) {
    return drivers[language].option;
}

const char *ld_driver_text(ld_language language) {
    return drivers[language].text;
}
