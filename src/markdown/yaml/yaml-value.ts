/** YAML as it is written: every scalar is its text. Maps have no prototype. */
export type YamlValue = string | YamlValue[] | YamlMap
export type YamlMap = { [key: string]: YamlValue }
