#include "report/style.h"

#include <string.h>

#include "records/sha256.h"

/* No '<' and no '&', so that it means the same in XML. The colours of text on their grounds have a contrast of 4.5 to 1
 * or more, in light and dark. */
const char *const cs_page_style[] = {
    ":root{color-scheme:light dark;--ground:#fff;--raised:#f5f6f8;--ink:#1b1f24;--quiet:#57606a;--edge:#d0d7de;"
    "--link:#0a58ca;--good:#116329;--good-ground:#dafbe1;--bad:#a40e26;--bad-ground:#ffebe9;--open:#6b4a00;"
    "--open-ground:#fff4ce;--c0:#0a58ca;--c1:#b34700;--c2:#117a55;--c3:#8031a7;--c4:#5c6670;--c5:#a3184f}\n"
    "@media screen and "
    "(prefers-color-scheme:dark){:root{--ground:#0f1318;--raised:#191f26;--ink:#e4e8ec;--quiet:#a0a9b2;"
    "--edge:#39424c;--link:#7cb4ff;--good:#6fdc8c;--good-ground:#12301c;--bad:#ff9a92;--bad-ground:#45181a;"
    "--open:#f0c55a;--open-ground:#382b08;--c0:#7cb4ff;--c1:#ff9f57;--c2:#56d3a4;--c3:#d49bf5;--c4:#a9b3bd;"
    "--c5:#ff8fb8}}\n"
    "*{box-sizing:border-box}\n"
    "html{background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;-webkit-text-size-adjust:100%}\n"
    "body{margin:0 auto;max-width:76rem;padding:1rem clamp(.75rem,3vw,2rem) 4rem;overflow-wrap:break-word}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:.6rem 0}\n",
    /* parts */
    "h2{font-size:1.25rem;margin:2.4rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--edge)}\n"
    "h3{font-size:1.05rem;margin:1.4rem 0 .5rem}\n"
    "h4{font-size:.8rem;margin:1.1rem 0 .35rem;color:var(--quiet);text-transform:uppercase;letter-spacing:.04em}\n"
    "p{margin:.4rem 0}\n"
    "a{color:var(--link)}\n"
    "a:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:4px}\n"
    ".skip{position:absolute;left:-100rem}.skip:focus{position:static}\n"
    "nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;margin:.6rem 0;padding:0}\n"
    ".d,pre,.t{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans "
    "Mono\",monospace;font-size:.875em}\n"
    ".t{white-space:nowrap}\n"
    "bdi,code{unicode-bidi:isolate}\n"
    "bdi,.d,pre,.e{overflow-wrap:anywhere}\n"
    "bdi,td,dd,summary{overflow:hidden}\n"
    ".e{background:var(--open-ground);color:var(--open);outline:1px solid currentColor;outline-offset:-1px;"
    "border-radius:2px;padding:0 .1em}\n"
    ".none,.size,.k,.dot,.note,figcaption,caption{color:var(--quiet)}\n"
    ".size,.note,.k{font-size:.9rem}\n"
    ".cut{color:var(--open);font-size:.9rem}\n"
    ".tag{display:inline-block;white-space:nowrap;max-width:100%;overflow:hidden;vertical-align:middle;padding:0 "
    ".5em;border-radius:1em;font-size:.8rem;font-weight:600;"
    "border:1px solid currentColor}\n"
    ".good{color:var(--good);background:var(--good-ground)}\n"
    ".bad{color:var(--bad);background:var(--bad-ground)}\n"
    ".open{color:var(--open);background:var(--open-ground)}\n"
    ".verdict{border:1px solid currentColor;border-left-width:.5rem;border-radius:.5rem;padding:.8rem 1.1rem;"
    "margin:1rem 0}\n"
    ".verdict p{color:var(--ink)}\n"
    ".verdict strong{font-size:1.25rem;display:block}\n"
    ".apart{border:2px dashed var(--edge);border-radius:.5rem;padding:.2rem 1rem 1rem}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.35rem 1.4rem;margin:0}\n"
    "dt{color:var(--quiet);font-size:.8rem}\n"
    "dd{margin:0}\n"
    "table{border-collapse:collapse;width:100%;margin:.6rem 0;font-size:.92rem}\n"
    "caption{text-align:left;padding-bottom:.4rem}\n"
    "th,td{text-align:left;vertical-align:top;padding:.45rem .6rem;border-bottom:1px solid var(--edge)}\n"
    "thead th{background:var(--raised)}\n"
    "tbody th{font-weight:400}\n"
    ".wide tbody th{min-width:9rem}\n"
    "td p{margin:0}\n"
    ".r{display:inline-block;min-width:1.5em;text-align:center;border-radius:4px;border:1px solid currentColor}\n"
    ".r0{color:var(--c0)}.r1{color:var(--c1)}.r2{color:var(--c2)}.r3{color:var(--c3)}.r4{color:var(--c4)}"
    ".r5{color:var(--c5)}\n",
    /* entries */
    "#gate td .d,#gate .verdict .d{font:inherit}\n"
    "details{min-width:0}\n"
    "summary{cursor:pointer;padding:.3rem .2rem}\n"
    ".entry{border:1px solid var(--edge);border-radius:.5rem;margin:.5rem 0;background:var(--ground)}\n"
    ".entry:target{outline:3px solid var(--link)}\n"
    ".entry>summary{padding:.5rem .8rem;border-radius:.5rem}\n"
    ".entry>summary:hover{background:var(--raised)}\n"
    ".inside{padding:0 .9rem .9rem;border-top:1px solid var(--edge)}\n"
    ".text{margin:.25rem 0}\n"
    ".text>p{margin:.1rem 0 .1rem 1.1rem}\n"
    ".step{border-left:3px solid var(--edge);padding-left:.7rem;margin:.5rem 0}\n"
    "ol{margin:.2rem 0;padding-left:1.8rem}\n"
    "pre{margin:.3rem 0;padding:.6rem .8rem;background:var(--raised);border:1px solid var(--edge);border-radius:.4rem;"
    "white-space:pre-wrap;overflow-wrap:anywhere;overflow:hidden;tab-size:4}\n"
    "pre code{font:inherit}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem}\n"
    "figure{margin:0;min-width:0}\n"
    ".chart{display:block;width:100%;height:auto;max-width:44rem}\n"
    ".chart text{font:12px system-ui,sans-serif;fill:var(--quiet)}\n"
    ".chart .axis{fill:var(--ink)}\n"
    ".grid{stroke:var(--edge);stroke-width:1}.zero{stroke:var(--quiet);stroke-width:1}.frame{stroke:var(--edge)}\n"
    ".c{stroke-width:2;stroke-linejoin:round}\n"
    ".c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}"
    ".c5{stroke:var(--c5)}\n"
    ".swatch{width:40px;height:10px;vertical-align:middle}\n"
    ".legend{list-style:none;padding:0}.legend li{margin:.5rem 0}\n"
    ".said{font-style:italic}\n",
    /* narrow, and paper */
    ".who{display:none}\n"
    "@media (max-width:46rem){.who{display:block}\n"
    ".wide thead{position:absolute;left:-100rem}\n"
    ".wide,.wide tbody,.wide caption,.wide tr,.wide td,.wide tbody th{display:block}\n"
    ".wide tr{border:1px solid var(--edge);border-radius:.5rem;margin:.6rem 0;padding:.3rem .2rem}\n"
    ".wide td,.wide tbody th{border:0;padding:.2rem .6rem}\n"
    ".wide td::before{content:attr(data-label);display:block;color:var(--quiet);font-size:.8rem}\n"
    "}\n"
    /* On paper a folded entry would hide what it says; its long texts stay as the reader left them. */
    "@media print{:root{color-scheme:light;--ground:#fff;--raised:#fff;--ink:#000;--quiet:#444;--edge:#999;--link:#000}"
    "html{font-size:11px}nav,.skip{display:none}.entry,.step,figure,tr{break-inside:avoid-page}"
    ".entry::details-content{content-visibility:visible;display:block;height:auto}"
    ".inside{display:block}h2,h3,h4{break-after:avoid}}\n",
    NULL,
};

bool cs_page_style_source(cs_buf *out) {
    cs_sha256 *hash = cs_sha256_new();
    uint8_t digest[CS_SHA256_BYTES];
    bool good = hash != NULL;
    if (good) {
        for (size_t i = 0; cs_page_style[i] != NULL; i++)
            cs_sha256_update(hash, cs_page_style[i], strlen(cs_page_style[i]));
        good = cs_sha256_final(hash, digest);
    }
    cs_sha256_free(hash);
    return good && cs_buf_text(out, "sha256-") && cs_base64_append(out, cs_view_bytes(digest, sizeof digest));
}
