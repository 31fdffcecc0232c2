/** Maximum bytes of the headers of one part. */
const maxHeaders = 16 * 1024
const blankLine = '\r\n\r\n'

/**
 * Watches the bytes of a form (RFC 2046, section 5.1) for a part whose headers are too long: the parser truncates such headers silently.
 */
export class PartHeaders {
  readonly #delimiter: string
  /** Last bytes that may begin a delimiter which continues in the next chunk. */
  #rest: Buffer = Buffer.from('\r\n') // the first delimiter has no line before it
  #isInHeaders = false
  #isOver = false

  constructor(boundary: string) {
    this.#delimiter = `\r\n--${boundary}`
  }

  /** Processes the next bytes of the form. @returns true if the headers of a part are longer than 16 KB */
  areTooLong(chunk: Uint8Array): boolean {
    if (this.#isOver) return false
    let bytes = Buffer.concat([this.#rest, chunk])
    for (;;) {
      // The last delimiter of a form ends in two hyphens.
      if (this.#isInHeaders && bytes.subarray(0, 2).equals(Buffer.from('--'))) {
        this.#isOver = true
        this.#rest = Buffer.alloc(0)
        return false
      }
      const at = bytes.indexOf(this.#isInHeaders ? blankLine : this.#delimiter, 0, 'latin1')
      if (this.#isInHeaders && (at < 0 ? bytes.length : at) > maxHeaders) return true
      if (at < 0) break
      // The end of a blank line may be the beginning of a delimiter.
      bytes = bytes.subarray(at + (this.#isInHeaders ? 2 : this.#delimiter.length))
      this.#isInHeaders = !this.#isInHeaders
    }
    this.#rest = this.#isInHeaders ? bytes : Buffer.from(bytes.subarray(-this.#delimiter.length))
    return false
  }
}

/** Returns the boundary in the content type of a form, or undefined. */
export function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(contentType)
  return match?.[1] ?? match?.[2]
}
