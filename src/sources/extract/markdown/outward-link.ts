const outward = /^(?:https?:\/\/|mailto:)[^\s<>]+$/i

/** Whether a URL is allowed in the Markdown of a document: absolute, with http, https or mailto. */
export function isOutwardLink(url: string): boolean {
  return url.length <= 2048 && outward.test(url)
}

const autolink = /<([^\s<>]*)>/y
const mailAddress = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/

/** Returns the end of an autolink to elsewhere that begins at `at`; undefined if none begins there. */
export function endOfAutolink(line: string, at: number): number | undefined {
  autolink.lastIndex = at
  const address = autolink.exec(line)?.[1]
  if (address === undefined || !(isOutwardLink(address) || mailAddress.test(address))) return undefined
  return autolink.lastIndex
}
