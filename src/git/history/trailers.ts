export type Trailers = readonly (readonly [name: string, value: string])[]

/** Matches trailers that git itself adds. A paragraph with one of them may also have other lines. */
const generated = /^(?:Signed-off-by: |\(cherry picked from commit )/
/** Matches a trailer's token and separator. */
const trailer = /^([A-Za-z0-9-]+)[ \t]*:/
const comment = /^#/

/**
 * Returns the trailers of a commit's message, by the rules of git-interpret-trailers(1): the last paragraph, if it is not the title and all
 * of its lines are trailers, or a quarter of them and one is git's own. Continuation lines are joined.
 */
export function trailersOf(message: string): Trailers {
  const lines = message.split('\n')
  const isBlank = (line: string) => line.trim() === ''
  const title = lines.findIndex(isBlank)
  const end = lines.findLastIndex((line) => !isBlank(line) && !comment.test(line)) + 1
  const start = lines.slice(0, end).findLastIndex(isBlank) + 1
  if (title < 0 || start <= title) return []
  const folded = unfold(lines.slice(start, end))
  let [trailers, others] = [0, 0]
  for (const { first, more } of folded) {
    if (generated.test(first) || trailer.test(first)) trailers++
    else others += more.length + (comment.test(first) ? 0 : 1)
  }
  const isBlock = folded.some(({ first }) => generated.test(first)) ? trailers * 3 >= others : others === 0
  if (!isBlock) return []
  return folded.flatMap(({ first, more }) => {
    const [head = '', name = ''] = trailer.exec(first) ?? []
    return head === '' ? [] : [[name, [first.slice(head.length), ...more].join(' ').trim()] as const]
  })
}

/** Groups each line with its continuation lines. */
function unfold(lines: readonly string[]): { first: string; more: string[] }[] {
  const folded: { first: string; more: string[] }[] = []
  for (const line of lines) {
    const last = folded.at(-1)
    if (/^\s/.test(line) && last !== undefined) last.more.push(line.trimStart())
    else folded.push({ first: line, more: [] })
  }
  return folded
}
