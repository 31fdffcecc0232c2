/** The part of Node's WebAssembly that is used; TypeScript has it with the types of browsers only. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    readonly exports: object
    constructor(module: Module, imports: Record<string, Record<string, () => void>>)
  }
  interface Memory {
    readonly buffer: ArrayBuffer
    /** Grows the memory by pages of 64 KiB. Buffers read before become empty. */
    grow(pages: number): number
  }
}
