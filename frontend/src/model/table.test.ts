// Tests the numbers of a panel as CSV, and the names of files.

import { expect, it } from "vitest";
import { csv, fileName } from "./table";

it("writes one row per value, with what all have in common", () => {
  const table = { part: "maps", columns: ["unit", "value"], rows: [[0, 0.5], [1, -1e-9]] };
  expect(csv({ run: "a", "training step": 10 }, [table]).join("")).toBe(
    "run,training step,part,unit,value\r\na,10,maps,0,0.5\r\na,10,maps,1,-1e-9\r\n",
  );
});

it("unites the columns of several parts; a part may overrule what all have in common", () => {
  const tables = [
    { part: "x", columns: ["unit"], rows: [[7]] },
    { part: "y", columns: ["layer", "gate"], rows: [["other", "forget"]] },
  ];
  expect(csv({ layer: "lstm" }, tables).join("").split("\r\n")).toEqual(["part,unit,layer,gate", "x,7,lstm,", "y,,other,forget", ""]);
});

it("quotes, writes what is not finite as words, and lets no name be a formula", () => {
  const rows = [['a "b", c', NaN], ["=1+1", Infinity], ["@x", -Infinity], ["-é\n", -2]];
  expect(csv({}, [{ part: "p", columns: ["name", "value"], rows }]).join("")).toBe(
    `part,name,value\r\np,"a ""b"", c",NaN\r\np,'=1+1,Infinity\r\np,'@x,-Infinity\r\np,"'-é\n",-2\r\n`,
  );
});

it("writes long tables in chunks", () => {
  const rows = Array.from({ length: 25_000 }, (_, row) => [row]);
  const chunks = csv({}, [{ part: "p", columns: ["row"], rows }]);
  expect(chunks).toHaveLength(4);
  expect(chunks.join("").split("\r\n")).toHaveLength(25_002);
});

it("makes names of files that are safe everywhere", () => {
  expect(fileName(["a b/é#1%", "<img src=x onerror=alert(1)>", "Weights"], "csv")).toBe("a_b_é_1-img_src_x_onerror_alert_1-Weights.csv");
  expect(fileName(["../..", "Слой"], "png")).toBe("Слой.png");
  expect(fileName(["x".repeat(300), "p"], "png")).toBe(`${"x".repeat(60)}-p.png`);
  expect(fileName(["ж".repeat(300), "門".repeat(300)], "png")).toBe(`${"ж".repeat(30)}-${"門".repeat(20)}.png`);
});
