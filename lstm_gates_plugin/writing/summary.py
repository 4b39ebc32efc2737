"""Payload bytes to TensorBoard's Summary message. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard.compat.proto import summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

from lstm_gates_plugin import format


def tensor_summary(tag: format.Tag, data: bytes) -> summary_pb2.Summary:
    """One rank-0 string tensor: the statistics of one log call.

    Both of TensorBoard's loaders keep it, and hand out all steps of a tag at once.
    """
    tensor = tensor_pb2.TensorProto(
        dtype=types_pb2.DT_STRING,
        tensor_shape=tensor_shape_pb2.TensorShapeProto(),
        string_val=[data],
    )
    return _summary(tag, tensor, summary_pb2.DATA_CLASS_TENSOR)


def blob_summary(tag: format.Tag, items: Sequence[bytes]) -> summary_pb2.Summary:
    """One rank-1 string tensor: blobs that are read one by one, by key."""
    dimension = tensor_shape_pb2.TensorShapeProto.Dim(size=len(items))
    tensor = tensor_pb2.TensorProto(
        dtype=types_pb2.DT_STRING,
        tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=[dimension]),
        string_val=list(items),
    )
    return _summary(tag, tensor, summary_pb2.DATA_CLASS_BLOB_SEQUENCE)


def _summary(
    tag: format.Tag, tensor: tensor_pb2.TensorProto, data_class: summary_pb2.DataClass.ValueType
) -> summary_pb2.Summary:
    # In every event: readers use the first metadata they meet, and that record may be corrupt.
    metadata = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(
            plugin_name=format.PLUGIN_NAME, content=format.METADATA_CONTENT
        ),
        data_class=data_class,
    )
    value = summary_pb2.Summary.Value(tag=str(tag), tensor=tensor, metadata=metadata)
    return summary_pb2.Summary(value=[value])
