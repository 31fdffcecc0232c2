import { type Html, html } from '../layout/html.ts'

const rows = [
  ['vip escalation', 'both words, in any order and inflection'],
  ['"page the lead"', 'these words one after the other'],
  ['lead OR manager', 'either'],
  ['escal*', 'words that begin so'],
  ['ticket -vip', 'without a word; NOT vip means the same'],
  ['ticket tag:policy', 'with a tag; also path:guides, title:vip, kind:source'],
  ['ticket after:2026-05', 'changed in May 2026 or later; before:2026 is earlier'],
] as const

export function queryHelp(): Html {
  return html`<details class="query-help"><summary>How to search</summary>
    <table><thead><tr><th scope="col">Write</th><th scope="col">To find</th></tr></thead>
      <tbody>${rows.map(([query, meaning]) => html`<tr><td><code>${query}</code></td><td>${meaning}</td></tr>`)}</tbody></table>
    <p class="hint">Titles, texts, tags, file names and numbers such as handbook_00000042 are searched.</p></details>`
}
