import type { WriteStream } from 'node:tty'

const width = 30
const eraseLine = '\r\u001b[K'

/** A bar on one line, redrawn in place; nothing where the stream is not a terminal. `unit`: what is counted. */
export function progressBar(stream: Pick<WriteStream, 'write' | 'isTTY'>, unit = 'files') {
  const draw = (text: string) => stream.isTTY && stream.write(eraseLine + text)
  return {
    show: (done: number, total: number): void => {
      const filled = total === 0 ? width : Math.floor((done / total) * width)
      draw(`[${'#'.repeat(filled)}${' '.repeat(width - filled)}] ${done} of ${total} ${unit}`)
    },
    clear: (): void => {
      draw('')
    },
  }
}
