/** File to upload: a `File` or `Blob`, a path (in Node, Deno and Bun), or a stream. */
export type Uploadable = Blob | ReadableStream<Uint8Array> | string

/** Content of an upload, which is read in parts. */
export type UploadContent = {
  name: string | undefined
  size: number
  slice: (from: number, to: number) => Promise<Blob> | Blob
  close?: () => Promise<void>
}

/** Opens a file to upload. @param size bytes of a stream; without it, the whole stream is read into memory */
export async function openContent(file: Uploadable, size?: number): Promise<UploadContent> {
  if (typeof file === 'string') return openPath(file)
  if (file instanceof Blob) return ofBlob(file)
  return size === undefined ? ofBlob(await new Response(file).blob()) : ofStream(file, size)
}

function ofBlob(blob: Blob): UploadContent {
  const name = 'name' in blob && typeof blob.name === 'string' ? blob.name : undefined
  return { name, size: blob.size, slice: (from, to) => blob.slice(from, to) }
}

async function openPath(path: string): Promise<UploadContent> {
  // An import of `node:fs` would fail in bundles for browsers.
  const files = globalThis.process?.getBuiltinModule('node:fs/promises')
  if (files === undefined)
    throw new TypeError('A path can be uploaded only in Node, Deno and Bun: send a File or Blob.')
  const file = await files.open(path)
  const { size } = await file.stat()
  const slice = async (from: number, to: number) => {
    const { buffer, bytesRead } = await file.read(new Uint8Array(to - from), 0, to - from, from)
    if (bytesRead < to - from) throw new Error(`${path} has become shorter.`)
    return new Blob([buffer])
  }
  return { name: path.split(/[\\/]/).at(-1), size, slice, close: () => file.close() }
}

/** Reads a stream in order. Keeps the last part, since the server may ask for it again after a broken connection. */
function ofStream(stream: ReadableStream<Uint8Array>, size: number): UploadContent {
  const reader = stream.getReader()
  let start = 0
  let held = new Blob()
  const slice = async (from: number, to: number) => {
    if (from < start) throw new Error('The server asks for bytes of the stream that are gone.')
    while (start + held.size < to) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`The stream ended after ${start + held.size} of ${size} bytes.`)
      if (start + held.size <= from) {
        start += held.size
        held = new Blob()
      }
      held = new Blob([held, value as Uint8Array<ArrayBuffer>])
    }
    held = held.slice(from - start)
    start = from
    return held.slice(0, to - from)
  }
  return { name: undefined, size, slice, close: () => reader.cancel() }
}
