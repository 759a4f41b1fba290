// The classic wrong sign: this one pushes the cart away from where it started.
import { createInterface } from "node:readline";

const KX = -1;
const KV = -1;

createInterface({ input: process.stdin }).on("line", (line) => {
    const [x, v, theta, omega] = line.split(" ").map(Number);
    process.stdout.write(`${40 * theta + 5 * omega + KX * x + KV * v}\n`);
});
