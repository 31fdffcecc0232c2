import type { TextItem } from '@llamaindex/liteparse'
import { joinLetters } from '../../broken-words.ts'

/** How much wider than the gap between letters that between words is. */
const wordGap = 1.35

/** Joins letters that a page sets apart to words, by the gaps between them, which Markdown does not show. */
export function withJoinedLetters(markdown: string, items: readonly TextItem[]): string {
  const lines = Map.groupBy(items, ({ y, height }) => Math.round(y + height))
  let joined = markdown
  for (const line of lines.values()) {
    const parts = line.toSorted((a, b) => a.x - b.x)
    const shown = parts.map(({ text }) => text.trim()).join(' ')
    if (joinLetters(shown) === shown) continue
    const gaps = parts.slice(1).map(({ x }, at) => x - (parts[at]?.x ?? 0) - (parts[at]?.width ?? 0))
    const within = parts.filter(({ text }) => text.trim().length > 1)
    const unit = Math.min(...gaps, ...within.map(({ text, width }) => (1.2 * width) / text.trim().length))
    const words = parts.map(
      ({ text }, at) => `${at > 0 && (gaps[at - 1] ?? 0) > wordGap * unit ? '  ' : ' '}${text.trim()}`,
    )
    joined = joined.replace(shown, () => joinLetters(words.join('')))
  }
  return joined
}
