/** After quotes and list markers. */
const fence = /^((?:[\s>]|[*+-] |\d{1,9}[.)] )*)(`{3,}|~{3,})(.*)$/

type Fence = { prefix: string; sign: string; length: number }

/**
 * Returns which lines of Markdown are fenced code, as far as can be seen without a parser: code in a quote or a list ends with
 * it.
 */
export function fencedLines(lines: readonly string[]): boolean[] {
  let open: Fence | undefined
  return lines.map((line) => {
    if (open && !continues(line, open)) open = undefined
    if (open) {
      if (closes(line, open)) open = undefined
      return true
    }
    open = opens(line)
    return open !== undefined
  })
}

function opens(line: string): Fence | undefined {
  const [, prefix, marker, info = ''] = fence.exec(line) ?? []
  if (prefix === undefined || marker === undefined || (marker.startsWith('`') && info.includes('`'))) return undefined
  return { prefix, sign: marker.charAt(0), length: marker.length }
}

function continues(line: string, { prefix }: Fence): boolean {
  if (prefix.includes('>')) return /^\s*>/.test(line)
  return line.trim() === '' || line.length - line.trimStart().length >= prefix.length
}

function closes(line: string, { sign, length }: Fence): boolean {
  const marker = line.replace(/^[\s>]+/, '').trimEnd()
  return marker.length >= length && marker === sign.repeat(marker.length)
}
