// Writes a RunRequest (proto3 JSON) that carries the cart-pole to a daemon as an ordinary project run.
//
//   node request.mjs PLANT.wasm CONTROLLER.js [FLOOR] > request.json
//
// FLOOR is the weakest isolation tier the run may get: process, container, kernel or vm. The
// protocol number is left to the client, which knows what the daemon speaks.
import { readFileSync } from "node:fs";

const [plantFile, controllerFile, floor = ""] = process.argv.slice(2);
const beside = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const lines = (text) => text.replace(/.{76}/g, "$&\n") + "\n";

// A plant that imports anything would not be the same plant on every engine.
const plant = readFileSync(plantFile);
const imports = WebAssembly.Module.imports(new WebAssembly.Module(plant));
if (imports.length !== 0)
    throw new Error(`the plant must import nothing, but imports ${imports.map((i) => `${i.module}.${i.name}`)}`);

const request = {
    minimumIsolation: floor,
    timeoutMs: 240000, // a processor that software emulates takes a minute when the machine is busy
    project: {
        files: [
            { path: "package.json", content: beside("package.json") },
            { path: "run.mjs", content: beside("run.mjs") },
            { path: "controller.js", content: readFileSync(controllerFile, "utf8") },
            { path: "plant.wasm.b64", content: lines(plant.toString("base64")) },
        ],
        steps: ["node run.mjs"],
        artifacts: ["record.bin"],
    },
};
process.stdout.write(`${JSON.stringify(request, null, 2)}\n`);
