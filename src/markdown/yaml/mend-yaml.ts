import { parseYaml } from './yaml.ts'

/**
 * Mended YAML. `lost`: keys whose values could not be read, and lines without a key; each stays in the text, quoted or, if `isCut`, as a
 * comment.
 */
export type MendedYaml = { yaml: string; lost: string[]; isCut: boolean }

const entryStart = /^(?:"([^"]+)"|'([^']+)'|([^\s"'#&*!|>%@`[\]{},?:-][^:]*)):(?=\s|$)/

/**
 * Mends a YAML block with problems by reading each top-level entry separately. A value that is not YAML is quoted as text; a broken list or
 * map, a second entry of the same key, or a line without a key becomes a comment. Returns `undefined` if there is no entry.
 */
export function mendYaml(yaml: string): MendedYaml | undefined {
  const entries: { key?: string; lines: string[] }[] = [{ lines: [] }]
  for (const line of yaml.split('\n')) {
    const [, double, single, plain] = entryStart.exec(line) ?? []
    const key = (double ?? single ?? plain)?.trim()
    if (key === undefined) entries.at(-1)?.lines.push(line)
    else entries.push({ key, lines: [line] })
  }
  const seen = new Set<string>()
  const lost: string[] = []
  let isCut = false
  const mended = entries.flatMap(({ key, lines }) => {
    const text = lines.join('\n')
    if (key === undefined) {
      const isNoise = (line: string) => /^\s*(?:#|$)/.test(line)
      const words = lines.filter((line) => !isNoise(line) && !line.startsWith('%YAML'))
      lost.push(...words)
      isCut ||= words.length > 0
      return lines.map((line) => (isNoise(line) ? line : `# ${line}`))
    }
    if (!seen.has(key)) {
      seen.add(key)
      const untabbed = text.replace(/(?<=\n)[ \t]+/g, (indent) => indent.replaceAll('\t', '  '))
      const readable = [text, untabbed, quoted(lines)].find((candidate) => isOneEntry(candidate))
      if (readable === quoted(lines)) lost.push(key)
      if (readable !== undefined) return [readable]
    }
    lost.push(key)
    isCut = true
    return lines.map((line) => (line.trim() === '' ? line : `# ${line}`))
  })
  return seen.size === 0 ? undefined : { yaml: mended.join('\n'), lost, isCut }
}

function isOneEntry(text: string | undefined): text is string {
  if (text === undefined) return false
  const { data, problems } = parseYaml(`${text}\n`)
  return problems.length === 0 && typeof data === 'object' && Object.keys(data).length === 1
}

function quoted(lines: readonly string[]): string | undefined {
  const text = lines.join('\n').trimEnd()
  const key = entryStart.exec(text)?.[0] ?? ''
  const value = text.slice(key.length).trim()
  if (/^[[{]/.test(value)) return undefined
  const ending = lines.join('\n').slice(text.length)
  return `${key} ${JSON.stringify(value.includes('\n') ? value : value.replace(/\s#.*$/s, ''))}${ending}`
}
