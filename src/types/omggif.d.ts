declare module 'omggif' {
  /** Reads a GIF; throws where it is damaged. */
  export class GifReader {
    constructor(bytes: Uint8Array)
    readonly width: number
    readonly height: number
    /** Paints a frame over red, green, blue and alpha of each pixel. */
    decodeAndBlitFrameRGBA(frame: number, pixels: Uint8Array): void
  }
}
