const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Converts a search excerpt, which is escaped HTML with `<mark>`, to plain text. @param mark text before and after each match */
export function highlightText(highlight: string, mark: string): string {
  return highlight
    .replace(/<\/?mark>/g, mark)
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
}
