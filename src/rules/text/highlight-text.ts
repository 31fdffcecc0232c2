const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/**
 * The text of a search's excerpt, which is escaped HTML with `<mark>`.
 * @param mark stands around what matched
 */
export function highlightText(highlight: string, mark: string): string {
  return highlight
    .replace(/<\/?mark>/g, mark)
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
}
