/* A pole on a cart, as WebAssembly without imports: any engine runs it, and its bytes name it.
 *
 * The fingerprint of a record is bit-exact, so the order of every product below is part of the plant:
 * left to right, no fused multiply-add (-ffp-contract=off), and sin and cos are the ones linked in
 * (wasi-libc's). Another libm is another plant.
 */
#include <math.h>

#define EXPORT(name) __attribute__((export_name(#name)))

#define GRAVITY 9.81     /* m/s^2 */
#define POLE_MASS 0.1    /* kg */
#define FORCE_LIMIT 20.0 /* N, either way */
#define STEP 1e-3        /* s */
#define STEPS_PER_TICK 10

typedef struct state {
    double x;     /* m */
    double v;     /* m/s */
    double theta; /* rad, from upright */
    double omega; /* rad/s */
} state;

static state now;
static double half_length; /* m */
static double cart_mass;   /* kg */

/* Put the cart at rest at 0 with the pole leaning by theta0. */
EXPORT(reset) void reset(double theta0, double length, double mass) {
    now = (state){.theta = theta0};
    half_length = length;
    cart_mass = mass;
}

/* One explicit Euler step: every derivative is taken at the old state. */
static void euler_step(double force) {
    const double sine = sin(now.theta);
    const double cosine = cos(now.theta);
    const double total = cart_mass + POLE_MASS;
    const double tau = (force + POLE_MASS * half_length * now.omega * now.omega * sine) / total;
    const double alpha =
        (GRAVITY * sine - cosine * tau) / (half_length * (4.0 / 3.0 - POLE_MASS * cosine * cosine / total));
    const double a = tau - POLE_MASS * half_length * alpha * cosine / total;

    now = (state){
        .x = now.x + STEP * now.v,
        .v = now.v + STEP * a,
        .theta = now.theta + STEP * now.omega,
        .omega = now.omega + STEP * alpha,
    };
}

/* Hold the force, clamped, for 10 ms. */
EXPORT(tick) void tick(double force) {
    const double held = fmax(-FORCE_LIMIT, fmin(FORCE_LIMIT, force));

    for (int i = 0; i < STEPS_PER_TICK; i++)
        euler_step(held);
}

EXPORT(x) double x(void) {
    return now.x;
}
EXPORT(v) double v(void) {
    return now.v;
}
EXPORT(theta) double theta(void) {
    return now.theta;
}
EXPORT(omega) double omega(void) {
    return now.omega;
}
