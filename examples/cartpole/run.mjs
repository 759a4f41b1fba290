// Closes the loop between the plant and a controller, and records every tick.
//
//   in   plant.wasm.b64 (the plant) and controller.js (the agent's code), in the working directory
//   out  record.bin: five little-endian float64 a tick (x v theta omega answer), and one JSON line
//        with the record's SHA-256, the fingerprint. Nothing in it depends on when or where it ran.
//
// The controller is a process of its own. It reads the state as one line, "x v theta omega", and
// writes one number, the force in newton.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const TICKS = 2000;
const TICKS_PER_SECOND = 100;
const THETA0 = 0.2; // rad
const HALF_LENGTH = 0.5; // m
const CART_MASS = 1.0; // kg

const ANSWER_LIMIT_MS = 2000;
const START_LIMIT_MS = 120000; // before the first answer an interpreter starts; emulated on a busy machine, very slowly
const ANSWER_LIMIT_CHARS = 64;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

class Controller {
    #child;
    #text = ""; // what it wrote and nobody has read yet
    #gone = ""; // why it can't answer any more
    #wake = () => {};

    constructor(file) {
        this.#child = spawn(process.execPath, [file], { stdio: ["pipe", "pipe", "inherit"] });
        this.#child.on("error", (error) => this.#end(`could not be started (${error.code})`));
        this.#child.on("close", (code, signal) => this.#end(`exited (${signal ?? `code ${code}`})`));
        // Writing to a controller that is gone fails here; "close" tells why it is gone.
        this.#child.stdin.on("error", () => {});
        this.#child.stdout.setEncoding("utf8").on("data", (chunk) => {
            this.#text += chunk;
            this.#wake();
        });
    }

    #end(reason) {
        this.#gone ||= reason;
        this.#wake();
    }

    async ask(state, limit) {
        if (this.#text !== "") throw new Error("the controller wrote more than one line for one state");
        this.#child.stdin.write(`${state.join(" ")}\n`);

        let late = false;
        const timer = setTimeout(() => {
            late = true;
            this.#wake();
        }, limit);
        while (!this.#text.includes("\n") && this.#text.length <= ANSWER_LIMIT_CHARS && !this.#gone && !late)
            await new Promise((resolve) => (this.#wake = resolve));
        clearTimeout(timer);
        return this.#take(limit);
    }

    #take(limit) {
        const end = this.#text.indexOf("\n");
        if (end < 0 && this.#gone) throw new Error(`the controller ${this.#gone}`);
        if (end < 0 && this.#text.length <= ANSWER_LIMIT_CHARS)
            throw new Error(`the controller answered nothing within ${limit / 1000} s`);

        const answer = this.#text.slice(0, end < 0 ? undefined : end);
        this.#text = this.#text.slice(answer.length + 1);
        if (answer.length > ANSWER_LIMIT_CHARS || !NUMBER.test(answer) || !Number.isFinite(Number(answer)))
            throw new Error(`the controller answered no number: ${JSON.stringify(answer.slice(0, ANSWER_LIMIT_CHARS))}`);
        return Number(answer);
    }

    stop() {
        this.#child.kill("SIGKILL");
    }
}

function loadPlant() {
    const bytes = Buffer.from(readFileSync("plant.wasm.b64", "ascii"), "base64");
    const plant = new WebAssembly.Instance(new WebAssembly.Module(bytes), {}).exports;
    plant.reset(THETA0, HALF_LENGTH, CART_MASS);
    return plant;
}

async function closeTheLoop(plant, controller) {
    const record = Buffer.alloc(TICKS * 5 * 8);
    let at = 0;
    let fellAt = null;

    for (let tick = 0; tick < TICKS; tick++) {
        const state = [plant.x(), plant.v(), plant.theta(), plant.omega()];
        if (fellAt === null && Math.abs(plant.theta()) > Math.PI / 2) fellAt = tick / TICKS_PER_SECOND;
        const answer = await controller.ask(state, tick === 0 ? START_LIMIT_MS : ANSWER_LIMIT_MS).catch((error) => {
            throw new Error(`tick ${tick}: ${error.message}`);
        });
        for (const value of [...state, answer]) at = record.writeDoubleLE(value, at);
        plant.tick(answer);
    }
    return { record, fellAt };
}

const controller = new Controller("controller.js");
try {
    const plant = loadPlant();
    const { record, fellAt } = await closeTheLoop(plant, controller);
    writeFileSync("record.bin", record);
    const report = {
        fingerprint: createHash("sha256").update(record).digest("hex"),
        ticks: TICKS,
        fell_at: fellAt,
        x: plant.x(),
        theta: plant.theta(),
    };
    process.stdout.write(`${JSON.stringify(report)}\n`);
} catch (error) {
    process.stderr.write(`cartpole: ${error.message}\n`);
    process.exitCode = 1;
} finally {
    controller.stop();
}
