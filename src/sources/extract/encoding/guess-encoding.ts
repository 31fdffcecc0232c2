import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What the module of chardetng exports, as wasm-bindgen has written it. Pointers are offsets in `memory`. */
type Detector = {
  memory: WebAssembly.Memory
  encodingdetector_new: () => number
  encodingdetector_feed: (detector: number, bytes: number, length: number, isLast: number) => number
  encodingdetector_guess: (result: number, detector: number, domain: number, length: number, allowsUtf8: number) => void
  __wbg_encodingdetector_free: (detector: number) => void
  __wbindgen_malloc: (size: number) => number
  __wbindgen_free: (pointer: number, size: number) => void
  __wbindgen_add_to_stack_pointer: (by: number) => number
}

let detector: Detector | undefined

/**
 * Guesses the encoding of text that is not UTF-8, as Firefox does for pages that declare none.
 * @returns a name of the Encoding Standard in lower case, which `TextDecoder` knows
 * @see https://github.com/hsivonen/chardetng
 */
export function guessEncoding(bytes: Uint8Array): string {
  detector ??= load()
  const { memory, __wbindgen_add_to_stack_pointer: moveStack } = detector
  const guesser = detector.encodingdetector_new()
  const start = detector.__wbindgen_malloc(bytes.length)
  new Uint8Array(memory.buffer).set(bytes, start)
  // It frees the bytes.
  detector.encodingdetector_feed(guesser, start, bytes.length, 1)
  const result = moveStack(-16)
  detector.encodingdetector_guess(result, guesser, 0, 0, 0)
  const [name = 0, length = 0] = new Int32Array(memory.buffer, result, 2)
  const encoding = new TextDecoder().decode(new Uint8Array(memory.buffer, name, length))
  moveStack(16)
  detector.__wbindgen_free(name, length)
  detector.__wbg_encodingdetector_free(guesser)
  // What decodes either decodes both.
  return encoding === 'GBK' ? 'gb18030' : encoding.toLowerCase()
}

/** The package's own loader imports WebAssembly as a module, which is only experimental in Node. */
function load(): Detector {
  const file = import.meta.resolve('chardetng-wasm/dist/chardetng_wasm_bg.wasm')
  const module = new WebAssembly.Module(readFileSync(fileURLToPath(file)))
  const glue = {
    __wbindgen_throw: () => {
      throw new Error('The detector of encodings failed.')
    },
  }
  return new WebAssembly.Instance(module, { './chardetng_wasm_bg.js': glue }).exports as Detector
}
