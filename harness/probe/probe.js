// The probe's script form. The line before this text, made for each run, sets `given`: nonce, hold_ms, canary, port.
//
// It looks, prints what it saw as one line of JSON, and a second line with a digest over the nonce and the first
// line. It changes nothing. What it can't find out is null.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const net = require('net');
const os = require('os');
const { spawn, spawnSync } = require('child_process');

const sha256 = (text) => crypto.createHash('sha256').update(text).digest('hex');
const attempt = (look) => { try { return look(); } catch { return null; } };
const cut = (text) => text.trim().slice(0, 120);
const token = sha256('countersign.tier-token.v1\n' + given.nonce).slice(0, 32);

const status = attempt(() => fs.readFileSync('/proc/self/status', 'utf8')) || '';
const field = (name) => attempt(() => new RegExp('^' + name + ':\\s*([0-9a-f]+)$', 'm').exec(status)[1]);
const number = (name) => attempt(() => { const text = field(name); return text === null ? null : Number(text); });
const namespace = (name) => attempt(() => Number(/\[(\d+)\]/.exec(fs.readlinkSync('/proc/self/ns/' + name))[1]));

// The process that shows the token; ended as soon as everything is done.
const wait = 'setTimeout(() => {}, ' + (given.hold_ms + 2000) + ')';
const shown = attempt(() => spawn(process.execPath, ['-e', wait, token], { stdio: 'ignore' }));
if (shown !== null) shown.on('error', () => {});
const until = Date.now() + given.hold_ms;

function kernelLog() {
    const log = attempt(() => spawnSync('dmesg', { encoding: 'utf8', timeout: 5000, maxBuffer: 1 << 22 }));
    if (log === null || log.status !== 0 || log.stdout === '') return null;
    return log.stdout.includes('gVisor');
}

function canary() {
    return given.canary === null ? null : attempt(() => sha256(fs.readFileSync(given.canary)));
}

function loopback(done) {
    if (given.port === 0) return done(null);
    let told = false;
    const tell = (value) => { if (!told) { told = true; done(value); } };
    try {
        const socket = net.connect(given.port, '127.0.0.1');
        socket.setTimeout(3000, () => { socket.destroy(); tell(null); });
        socket.on('connect', () => socket.end(token, () => tell(0)));
        socket.on('error', (error) => tell(typeof error.errno === 'number' ? Math.abs(error.errno) : null));
    } catch (error) {
        tell(typeof error.errno === 'number' ? Math.abs(error.errno) : null);
    }
}

function clock() {
    const real = Date.now();
    return Math.round(real * 1000 - Number(process.hrtime.bigint() / 1000n));
}

loopback((reached) => {
    const seen = {
        probe: 'countersign.tier-probe.v1',
        form: 'script',
        release: cut(os.release()),
        version: cut(os.version()),
        boot_id: attempt(() => cut(fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))),
        clock_us: clock(),
        pid_ns: namespace('pid'),
        ipc_ns: namespace('ipc'),
        seccomp: number('Seccomp'),
        no_new_privs: number('NoNewPrivs'),
        capable: attempt(() => { const set = field('CapEff'); return set === null ? null : /[^0]/.test(set) ? 1 : 0; }),
        kernel_log_gvisor: kernelLog(),
        loopback: reached,
        canary: canary(),
        no_call: null,
        mseal: null,
        file_getattr: null,
        vmsplice: null,
        remap_file_pages: null,
        landlock_abi: null,
        hypervisor: null,
        processes: null,
    };
    setTimeout(() => {
        const line = JSON.stringify(seen);
        if (shown !== null) shown.kill('SIGKILL');
        process.stdout.write(line + '\n' + sha256('countersign.tier-probe.v1\n' + given.nonce + '\n' + line) + '\n');
    }, Math.max(0, until - Date.now()));
});
