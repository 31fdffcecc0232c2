const outward = /^(?:https?:\/\/|mailto:)[^\s<>]+$/i

/** Whether an address may stand in the Markdown of a document: absolute, and of http, https or mailto. */
export function isOutwardLink(url: string): boolean {
  return url.length <= 2048 && outward.test(url)
}
