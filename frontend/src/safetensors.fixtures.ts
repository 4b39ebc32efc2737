// Bytes that the Python library "safetensors" wrote, in base64.

/** All dtypes, special values, an empty array, and a header with a non-ASCII layer id. */
export const EVERY_DTYPE =
  "YAIAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJsc3RtX2dhdGVzIjoie1widmVyc2lvblwiOiAxLCBcInN0ZXBcIjogOTAwLCBcImxh" +
  "eWVyXCI6IHtcImlkXCI6IFwiXFx1MDBlOTxiPlwifX0ifSwic3RlcHMiOnsiZHR5cGUiOiJJNjQiLCJzaGFwZSI6WzNdLCJkYXRh" +
  "X29mZnNldHMiOlswLDI0XX0sInN0YXRpc3RpY3MiOnsiZHR5cGUiOiJGNjQiLCJzaGFwZSI6WzJdLCJkYXRhX29mZnNldHMiOlsy" +
  "NCw0MF19LCJlbXB0eSI6eyJkdHlwZSI6IkYzMiIsInNoYXBlIjpbMCwzXSwiZGF0YV9vZmZzZXRzIjpbNDAsNDBdfSwia2VybmVs" +
  "L2ZvcmdldCI6eyJkdHlwZSI6IkYzMiIsInNoYXBlIjpbMiwyXSwiZGF0YV9vZmZzZXRzIjpbNDAsNTZdfSwiaGlzdG9ncmFtIjp7" +
  "ImR0eXBlIjoiVTMyIiwic2hhcGUiOlsyXSwiZGF0YV9vZmZzZXRzIjpbNTYsNjRdfSwiYWN0aXZhdGlvbi9mb3JnZXQiOnsiZHR5" +
  "cGUiOiJGMTYiLCJzaGFwZSI6WzEsMiwyXSwiZGF0YV9vZmZzZXRzIjpbNjQsNzJdfSwiaGFsZiI6eyJkdHlwZSI6IkYxNiIsInNo" +
  "YXBlIjpbNV0sImRhdGFfb2Zmc2V0cyI6WzcyLDgyXX0sIm1hc2siOnsiZHR5cGUiOiJVOCIsInNoYXBlIjpbM10sImRhdGFfb2Zm" +
  "c2V0cyI6WzgyLDg1XX19IP//////////hAMAAAAAAAAAAAAAAAEAAFVVVVVVVdU/AAAAAAAA8H8AAMA/AACAvoKo+zcAAMB/AAAA" +
  "AP////8AOADAAH4AfAEAAAT/e2auAPwBAAE=";

/** One array of int32: 0, -2, 100000. */
export const INT32 =
  "aAAAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJsc3RtX2dhdGVzIjoie30ifSwicmVhY2gvbGFncyI6eyJkdHlwZSI6IkkzMiIsInNo" +
  "YXBlIjpbM10sImRhdGFfb2Zmc2V0cyI6WzAsMTJdfX0gICAgIAAAAAD+////oIYBAA==";

/** One array of int16, which no record of ours has. */
export const INT16 =
  "YAAAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJsc3RtX2dhdGVzIjoie30ifSwib2RkIjp7ImR0eXBlIjoiSTE2Iiwic2hhcGUiOlsy" +
  "XSwiZGF0YV9vZmZzZXRzIjpbMCw0XX19ICAgICAAAAAA";

/** A valid file without our metadata. */
export const NO_METADATA =
  "OAAAAAAAAAB7ImEiOnsiZHR5cGUiOiJGMzIiLCJzaGFwZSI6WzJdLCJkYXRhX29mZnNldHMiOlswLDhdfX0gIAAAAAAAAAAA";
