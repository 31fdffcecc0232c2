declare module 'opencc-js/dict/TSCharacters' {
  /** `traditional simplified`, with `|` between. */
  const pairs: string
  export default pairs
}
