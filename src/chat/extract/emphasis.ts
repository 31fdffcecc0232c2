/** A mark of emphasis that opens or closes it, outside words: `a*b`, `snake_case` and `\*` have none. */
const mark =
  /(?<![\p{L}\p{N}*_~=\\])(?<open>\*\*|__|~~|==|\*|_)(?=[^\s*_~=])|(?<=[^\s*_~=\\])(?<close>\*\*|__|~~|==|\*|_)(?![\p{L}\p{N}*_~=])/gu
const code = /(`+)[^`]*\1/g

/**
 * Markdown that was cut out of a longer text, without marks of emphasis of which the other one was left behind: in
 * `**Backups run at night.` the first two characters.
 */
export function withoutLooseEmphasis(text: string): string {
  const open: { mark: string; at: number }[] = []
  const loose = new Map<number, string>()
  const prose = text.replace(code, (span) => 'x'.repeat(span.length))
  for (const { index, groups } of prose.matchAll(mark)) {
    const { open: opening, close: closing } = groups ?? {}
    if (opening !== undefined) {
      open.push({ mark: opening, at: index })
      continue
    }
    const last = open.findLastIndex((one) => one.mark === closing)
    if (last < 0) loose.set(index, closing ?? '')
    else for (const unclosed of open.splice(last).slice(1)) loose.set(unclosed.at, unclosed.mark)
  }
  for (const unclosed of open) loose.set(unclosed.at, unclosed.mark)
  let shown = ''
  let at = 0
  for (const [index, { length }] of [...loose].sort(([a], [b]) => a - b)) {
    shown += text.slice(at, index)
    at = index + length
  }
  return shown + text.slice(at)
}
