import type { WriteStream } from 'node:tty'

const width = 30
const eraseLine = '\r\u001b[K'

/** Creates a bar that is redrawn on one line. It shows nothing if the stream is not a terminal. @param unit what the bar counts */
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
